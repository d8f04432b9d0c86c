// Proposals of few items. They take a quarter of the workgroup memory, so more of them run at a time.
const MOST: u32 = 16u;
