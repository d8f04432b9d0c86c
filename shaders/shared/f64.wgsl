// Arithmetic in double precision.
alias real = f64;
alias real4 = vec4<f64>;
alias complex = vec2<f64>;
const ZERO: real = 0.0lf;
const ONE: real = 1.0lf;
// Stands for −∞, which has no literal.
const LOWEST: real = -1.0e308lf;

