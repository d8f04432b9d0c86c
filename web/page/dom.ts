/** Elements of the page. */

/** An element that the page has. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${type.name} ${id}`);
  return found;
}

export const input = (id: string): HTMLInputElement => byId(id, HTMLInputElement);
export const select = (id: string): HTMLSelectElement => byId(id, HTMLSelectElement);
export const button = (id: string): HTMLButtonElement => byId(id, HTMLButtonElement);

/** A new element. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Options of a choice: values and texts. */
export function fill(choice: HTMLSelectElement, options: [string, string][], chosen: string): void {
  choice.replaceChildren(...options.map(([value, text]) => make("option", { value, textContent: text })));
  choice.value = chosen;
}

/** A row of a table; the first cell heads it. */
export function tableRow(...cells: (Node | string)[]): HTMLTableRowElement {
  const [first = "", ...rest] = cells;
  return make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell)));
}

export function tableHead(...names: string[]): HTMLTableSectionElement {
  const cells = names.map((name) => make("th", { scope: "col", textContent: name }));
  return make("thead", {}, make("tr", {}, ...cells));
}

/** The number in a field, if there is one. `wanted` says what the field takes. */
export function numberIn(field: HTMLInputElement, name: string, wanted: string): number | undefined {
  const isWrong = !field.validity.valid;
  field.ariaInvalid = isWrong ? "true" : null;
  if (isWrong) throw new Error(`${name}: write ${wanted}`);
  return field.value === "" ? undefined : field.valueAsNumber;
}

/** Marks a button as of no use now. It keeps the focus, which `disabled` would take away. */
export function setIdle(target: HTMLButtonElement, isIdle: boolean): void {
  target.ariaDisabled = String(isIdle);
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
/** A number with some decimals and a true minus. */
export const fixed = (value: number, decimals: number): string =>
  (Number.isFinite(value) ? value.toFixed(decimals) : "-∞").replace("-", "−");
export const seconds = (time: number): string => `${time.toFixed(time < 10 ? 3 : 1)} s`;
