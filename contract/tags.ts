import { z } from 'zod'
import { tagInput } from './links.ts'
import { pageOf, pageQuery } from './pagination.ts'
import { line } from './primitives.ts'

const SORTS = ['name', '-name', 'links', '-links'] as const
const TAGS_MAX = 10
const SEARCH_LENGTH_MAX = 50

const tagSchema = z
  .object({
    name: z.string().describe('The tag.'),
    links: z.int().describe('How many links carry it.'),
  })
  .meta({ id: 'Tag', description: 'A tag, and how many links carry it.' })

export const tagPage = pageOf(tagSchema, 'TagPage')

export const listTagsQuery = pageQuery.omit({ cursor: true }).extend({
  search: line(SEARCH_LENGTH_MAX)
    .optional()
    .describe('Tags that contain this text, whatever its letter case.'),
  sort: z.enum(SORTS).optional().describe('Order; a minus sign reverses it. `name` by default.'),
})

const tags = z.array(tagInput).min(1).max(TAGS_MAX)

export const renameTagsBody = z
  .strictObject({
    tags: tags.describe('The tags to rename; several become one.'),
    name: tagInput.describe('Their new name. Links that carry it already keep it once.'),
  })
  .meta({
    id: 'RenameTags',
    description: 'Tags to rename or merge.',
    examples: [{ tags: ['sprng'], name: 'spring' }],
  })

export const deleteTagsBody = z
  .strictObject({ tags: tags.describe('The tags to take from all links.') })
  .meta({ id: 'DeleteTags', description: 'Tags to delete.', examples: [{ tags: ['spring'] }] })

export const tagsChanged = z
  .object({
    done: z
      .boolean()
      .describe('False when links are left: send the same request again to change the rest.'),
    changed: z.int().describe('Links that this request changed.'),
  })
  .meta({ id: 'TagsChanged', description: 'How far a change of tags has come.' })
export type TagResource = z.output<typeof tagSchema>
