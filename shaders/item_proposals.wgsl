// Proposals with as many items as fit in workgroup memory.
const MOST: u32 = 36u;
