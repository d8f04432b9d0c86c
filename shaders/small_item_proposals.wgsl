// Proposals of few items: a quarter of the workgroup memory, so that more of them run at a time.
const MOST: u32 = 16u;
