import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { geoNaturalEarth1 } from 'd3-geo'
import { iso31661NumericToAlpha2 } from 'iso-3166'
import { feature } from 'topojson-client'
import type { Plugin } from 'vite'

/** What `import map from 'virtual:world-map'` returns; declared in `src/pages/analytics/world-map.d.ts`. */
type WorldMap = {
  readonly width: number
  readonly height: number
  /** The dots of each country by ISO 3166-1 alpha-2 code: column, row, column, row … */
  readonly dots: Readonly<Record<string, readonly number[]>>
  /** Countries that are one dot where the grid has sea. */
  readonly islands: readonly string[]
}

type Ring = readonly (readonly number[])[]
type Polygon = readonly Ring[]
/** What the atlas is as GeoJSON. */
type Atlas = {
  readonly features: readonly {
    /** The number of ISO 3166-1; missing for disputed areas. */
    readonly id?: string
    readonly properties: { readonly name: string }
    readonly geometry:
      | { readonly type: 'Polygon'; readonly coordinates: Polygon }
      | { readonly type: 'MultiPolygon'; readonly coordinates: readonly Polygon[] }
  }[]
}
type Country = {
  readonly code: string
  readonly polygons: readonly Polygon[]
  readonly bounds: readonly [west: number, south: number, east: number, north: number]
}
type Cell = { readonly column: number; readonly row: number; owner: string }

const COLUMNS = 96
/** In a hexagonal grid, rows are √3/2 of a column apart. */
const ROW = Math.sqrt(3) / 2
/** Without Antarctica and the empty north. */
const NORTH = 83.5
const SOUTH = -56
const ANTARCTICA = 'AQ'
/** A country without a dot of its own may take one from a country that keeps at least this many. */
const DOTS_KEPT_MIN = 4

/** Areas of the atlas without a number of ISO 3166-1. */
const CODES_BY_NAME: Readonly<Record<string, string>> = {
  Kosovo: 'XK',
  'N. Cyprus': 'CY',
  Somaliland: 'SO',
}

const MODULE = 'virtual:world-map'

/** Projects the countries of the world onto a grid of dots while the dashboard is built. */
export function worldMapPlugin(): Plugin {
  return {
    name: 'terse-world-map',
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
    async load(id) {
      if (id !== `\0${MODULE}`) return null
      return `export default ${JSON.stringify(await drawWorld())}`
    },
  }
}

async function drawWorld(): Promise<WorldMap> {
  const countries = await readCountries()
  const projection = geoNaturalEarth1().rotate([-11, 0]).scale(1).translate([0, 0])
  const [west = 0] = projection([-169, 0]) ?? []
  const [east = 0] = projection([190.9, 0]) ?? []
  const [, top = 0] = projection([11, NORTH]) ?? []
  const [, bottom = 0] = projection([11, SOUTH]) ?? []
  const step = (east - west) / COLUMNS
  const rows = Math.floor((bottom - top) / (step * ROW))
  const cells: Cell[] = []
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < COLUMNS; column += 1) {
      const x = west + (column + (row % 2) / 2 + 0.25) * step
      const y = top + (row + 0.5) * step * ROW
      const place = projection.invert?.([x, y])
      const projected = place && projection(place)
      // Beside the world, the inverse returns places that are elsewhere.
      if (!place || !projected || Math.abs(projected[0] - x) > step / 2) continue
      cells.push({ column, row, owner: ownerOf(countries, place[0], place[1]) })
    }
  }
  const gridPlaceOf = (longitude: number, latitude: number) => {
    const [x = 0, y = 0] = projection([longitude, latitude]) ?? []
    return { column: (x - west) / step - 0.25, row: (y - top) / (step * ROW) - 0.5 }
  }
  const islands = giveDots(countries, cells, gridPlaceOf)
  return { width: COLUMNS, height: rows, dots: dotsOf(cells), islands }
}

async function readCountries(): Promise<readonly Country[]> {
  const path = createRequire(import.meta.url).resolve('world-atlas/countries-50m.json')
  const atlas = JSON.parse(await readFile(path, 'utf8'))
  const world = feature(atlas, atlas.objects.countries) as unknown as Atlas
  return world.features.flatMap(({ id, properties, geometry }) => {
    const code = iso31661NumericToAlpha2[id ?? ''] ?? CODES_BY_NAME[properties.name]
    if (code === undefined || code === ANTARCTICA) return []
    if (geometry.type === 'Polygon') return [countryOf(code, [geometry.coordinates])]
    return [countryOf(code, geometry.coordinates)]
  })
}

function countryOf(code: string, polygons: readonly Polygon[]): Country {
  const points = polygons.flatMap(([outline = []]) => outline)
  const bounds = points.reduce<Country['bounds']>(
    ([west, south, east, north], [x = 0, y = 0]) => [
      Math.min(west, x),
      Math.min(south, y),
      Math.max(east, x),
      Math.max(north, y),
    ],
    [180, 90, -180, -90],
  )
  return { code, polygons, bounds }
}

/** The country at a place, or '' for the sea. */
function ownerOf(countries: readonly Country[], x: number, y: number): string {
  const owner = countries.find(
    ({ bounds: [west, south, east, north], polygons }) =>
      x >= west && x <= east && y >= south && y <= north && polygons.some((p) => contains(p, x, y)),
  )
  return owner?.code ?? ''
}

/** Whether a point is within the outline of a polygon, and in none of its holes. */
function contains(polygon: Polygon, x: number, y: number): boolean {
  let isInside = false
  for (const ring of polygon) {
    for (const [nth, [x1 = 0, y1 = 0]] of ring.entries()) {
      const [x2 = 0, y2 = 0] = ring.at(nth - 1) ?? []
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isInside = !isInside
    }
  }
  return isInside
}

/**
 * Gives each country that is too small for the grid the nearest dot that is free or can be spared.
 *
 * @returns the countries whose dot was free
 */
function giveDots(
  countries: readonly Country[],
  cells: readonly Cell[],
  gridPlaceOf: (longitude: number, latitude: number) => { column: number; row: number },
): string[] {
  const islands: string[] = []
  const counts = new Map<string, number>()
  for (const { owner } of cells) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  for (const { code, polygons } of countries) {
    if (counts.has(code)) continue
    const largest = polygons.toSorted((a, b) => (b[0]?.length ?? 0) - (a[0]?.length ?? 0))[0]
    const [longitude = 0, latitude = 0] = largest?.[0]?.[0] ?? []
    if (latitude > NORTH || latitude < SOUTH) continue
    const { column, row } = gridPlaceOf(longitude, latitude)
    const distance = (cell: Cell) =>
      Math.hypot(cell.column + (cell.row % 2) / 2 - column, (cell.row - row) * ROW)
    const nearest = cells
      .filter(({ owner }) => owner === '' || (counts.get(owner) ?? 0) > DOTS_KEPT_MIN)
      .reduce((best, cell) => (distance(cell) < distance(best) ? cell : best))
    counts.set(nearest.owner, (counts.get(nearest.owner) ?? 0) - 1)
    counts.set(code, 1)
    if (nearest.owner === '') islands.push(code)
    nearest.owner = code
  }
  return islands
}

function dotsOf(cells: readonly Cell[]): WorldMap['dots'] {
  const dots: Record<string, number[]> = {}
  for (const { column, row, owner } of cells) {
    if (owner === '') continue
    dots[owner] ??= []
    dots[owner].push(column, row)
  }
  return dots
}
