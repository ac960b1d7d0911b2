/** The icons of lucide as data: elements and their attributes in a box of 24 × 24. */
declare module 'lucide/dist/esm/icons/*.mjs' {
  const node: import('./Icon.tsx').IconNode
  export default node
}
