/** What to choose. */
export interface Question {
  /** Number of items. Without `k` and `quota`, sets have any size. */
  k?: number;
  /**
   * How many items of every part: by label a number, or a pair with the least and the most, null for no limit; parts
   * that are not named get none. Or text: "equal" or "proportional" to share out `k`, or "cat=2,dog=1..3".
   */
  quota?: string | Record<string, number | [number, number | null]>;
  /** Similarity of two rows, "cosine" by default; "rbf" is the Gaussian kernel exp(-|x - y|² / (2 bandwidth²)). */
  similarity?: "cosine" | "dot" | "rbf";
  /** Length scale of "rbf": by default the median distance of items, and a third of it with `represent`. */
  bandwidth?: number;
  /** Added to the similarity of every item with itself, so that sets may have any number of items. */
  ridge?: number;
  /** Sets also stand for the rest of every part, or for all items. */
  represent?: "parts" | "all";
  /** Exponent of `represent`: 1 by default; 0 leaves diversity alone. */
  representation?: number;
  /** Score of every item. */
  scores?: Float64Array | number[];
  /** Weight of diversity against scores, from 0 to 1: 0.5 by default. */
  diversity?: number;
  /** Items of every set. */
  include?: number[];
  /** Items of no set. */
  exclude?: number[];
  /** A random set, as likely as its determinant is large, or the best set that a search finds: "sample" by default. */
  method?: "sample" | "best";
  /** Whether to compute a bound that no set exceeds, with the method "best". */
  certify?: boolean;
  /** Seconds after which a search gives its best set so far; draws and bounds that take longer are errors. */
  timeLimit?: number;
  /** Seed of samples, 0 by default: the same seed draws the same set. */
  seed?: number | bigint;
}

/** A chosen set. */
export interface Answer {
  /** The items, ascending. */
  items: number[];
  /** ln det of their similarity, with scores and ridge. */
  logDet: number;
  /** How the set relates to the distribution asked for, or to the best set. */
  exactness: "exact" | "rounded" | "optimal" | "heuristic";
  /** Estimated total variation error of the distribution of a drawn set; above 1e-9 its exactness is "rounded". */
  lawError?: number;
  /** No set has a larger ln det. */
  upperBound?: number;
  /** Why the search ended. */
  termination?: string;
  /** Share of the squared length of all rows that lies in the span of the chosen ones. */
  explained: number;
  /** The same by part; one entry "all items" without labels. */
  explainedByPart: { name: string; items: number; chosen: number; explained: number }[];
  /** Seconds that the call took. */
  seconds: number;
}

/** A part of the items. */
export interface Part {
  name: string;
  /** Number of its items. */
  size: number;
}
