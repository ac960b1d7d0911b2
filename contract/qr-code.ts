import { z } from 'zod'
import { asMessage } from './faults.ts'
import { integer, queryInteger } from './primitives.ts'

const FORMATS = ['png', 'svg'] as const
const ADDRESSES = ['link', 'visit'] as const
const LEVELS = ['L', 'M', 'Q', 'H'] as const
const SIZE_MIN = 64
const SIZE_MAX = 2_048
const MARGIN_MAX = 16

const format = z.enum(FORMATS)
const address = z.enum(ADDRESSES)
const level = z.enum(LEVELS)
const color = z.string().regex(/^#[0-9a-fA-F]{6}$/, asMessage({ code: 'invalid_color' }))

const ADDRESS =
  'Whether the code contains the `link`, which always begins with `https://`, or the address at which it opens (`visit`): on the own host of a service without HTTPS, or at a port of its own, that differs. `link` when left out.'
const FORMAT = 'Format of the picture; `png` when left out.'
const LEVEL =
  'Error correction: `L` repairs 7 % of a code, `M` 15 %, `Q` 25 %, `H` 30 %. `M` when left out. A long link may not fit into `Q` or `H`.'
const COLOR =
  'Colour of the modules, `#RRGGBB`; black when left out. Must have enough contrast with white.'
const SIZE =
  'Width and height in pixels; about 480 when left out. A module takes at least 2 pixels, so long links need more than the minimum.'
const MARGIN =
  'White modules on each side; 4 when left out, as the standard requires. Choose fewer only if the picture is shown on white.'
const DOWNLOAD = 'Whether browsers save the picture as a file instead of showing it.'
const TRACK =
  'Whether to count visits through this code separately: it contains the short link with `?qr=1`, its visits have the source `qr`, and the parameter is not passed to the destination.'

const LOGO =
  'A PNG of at most 32 KiB and 512 × 512 pixels, not interlaced, as `data:image/png;base64,…`. It covers the middle of the code, a fifth of its width, on white. Needs the level `Q` or `H`, which is `H` when left out.'

const queryBoolean = z.preprocess(
  (value) =>
    value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value,
  z.boolean(),
)

export const qrCodeQuery = z.strictObject({
  format: format.optional().describe(FORMAT),
  size: queryInteger(SIZE_MAX, SIZE_MIN).optional().describe(SIZE),
  margin: queryInteger(MARGIN_MAX, 0).optional().describe(MARGIN),
  level: level.optional().describe(LEVEL),
  color: color.optional().describe(COLOR),
  download: queryBoolean.optional().describe(DOWNLOAD),
  track: queryBoolean.optional().describe(TRACK),
  address: address.optional().describe(ADDRESS),
})

export const qrCodeBody = z
  .strictObject({
    format: format.nullish().describe(FORMAT),
    size: integer(SIZE_MAX, SIZE_MIN).nullish().describe(SIZE),
    margin: integer(MARGIN_MAX, 0).nullish().describe(MARGIN),
    level: level.nullish().describe(LEVEL),
    color: color.nullish().describe(COLOR),
    download: z.boolean().nullish().describe(DOWNLOAD),
    track: z.boolean().nullish().describe(TRACK),
    address: address.nullish().describe(ADDRESS),
    logo: z.string().nullish().describe(LOGO),
  })
  .meta({
    id: 'QrCodeOptions',
    description: 'The parameters of the query; those in the body take precedence.',
    examples: [{ format: 'svg', level: 'Q' }],
  })
  .nullish()

export type QrCodeParameters = z.output<typeof qrCodeQuery> & { readonly logo?: string }
