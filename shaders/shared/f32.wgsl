// Arithmetic in single precision.
alias real = f32;
alias real4 = vec4<f32>;
alias complex = vec2<f32>;
const ZERO: real = 0.0f;
const ONE: real = 1.0f;
// Stands for −∞, which has no literal.
const LOWEST: real = -3.0e38f;

