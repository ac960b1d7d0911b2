/** The countries of the world as dots on a hexagonal grid; `web/world-map.ts` makes it during the build. */
declare module 'virtual:world-map' {
  const map: {
    /** Columns and rows of the grid; odd rows begin half a column to the right. */
    readonly width: number
    readonly height: number
    /** The dots of each country by ISO 3166-1 alpha-2 code: column, row, column, row … */
    readonly dots: Readonly<Record<string, readonly number[]>>
    /** Countries that are one dot where the grid has sea. */
    readonly islands: readonly string[]
  }
  export default map
}
