// Proposals of as many items as workgroup memory holds.
const MOST: u32 = 36u;
