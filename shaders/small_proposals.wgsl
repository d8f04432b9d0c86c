// Proposals of few items and parts. They take a third of the workgroup memory, so more of them run at a time.
const MOST: u32 = 16u;
