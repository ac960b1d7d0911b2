import { z } from 'zod'
import { destinationInput } from './primitives.ts'

/** The size of an uploaded image, in bytes. */
export const IMAGE_UPLOAD_BYTES_MAX = 1024 * 1024

export const IMAGE_UPLOAD_TYPES = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'application/octet-stream',
] as const

export const uploadedImageSchema = z
  .object({
    url: z.string().describe('Where the service has it; for `image` of a link.'),
    type: z.enum(['image/png', 'image/jpeg']).describe('As it was encoded.'),
    width: z.int().describe('In pixels.'),
    height: z.int().describe('In pixels.'),
    bytes: z.int().describe('What it takes of the storage of the workspace.'),
  })
  .meta({ id: 'Image', description: 'An uploaded image.' })

export type UploadedImageResource = z.output<typeof uploadedImageSchema>

export const readPreviewBody = z
  .strictObject({ url: destinationInput.describe('The page to read.') })
  .meta({
    id: 'ReadPreview',
    description: 'The page of which to read title, description and image.',
    examples: [{ url: 'https://example.com/spring' }],
  })

export const previewSchema = z
  .object({
    title: z.string().nullable(),
    description: z.string().nullable(),
    image: z.string().nullable().describe('The URL of the image, which the service has now.'),
  })
  .meta({ id: 'Preview', description: 'What a page says of itself for programs that show links.' })

export type PreviewResource = z.output<typeof previewSchema>
