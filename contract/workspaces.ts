import { z } from 'zod'
import { pageOf } from './pagination.ts'
import { line, roleSchema, timestamp, uuid } from './primitives.ts'

const name = line(63).describe(
  'The slug: lower-case letters, digits and hyphens, unique in the instance. Commands and settings name the workspace by it.',
)
const title = line(63).describe('The name that people see, in any letters.')

export const workspaceSchema = z
  .object({
    id: uuid.describe('Identifier of the workspace.'),
    name: z.string().describe('Its slug, by which commands and settings name it.'),
    title: z.string().describe('The name that people see; `name` where none was given.'),
    role: roleSchema
      .nullable()
      .describe(
        'The role of the person who is signed in; null for an operator who is not a member.',
      ),
    created_at: timestamp.describe('When it was created.'),
  })
  .meta({ id: 'Workspace', description: 'A workspace that the person may see.' })

export const workspaceList = pageOf(workspaceSchema, 'WorkspaceList')
export const createWorkspaceBody = z
  .strictObject({
    name: name.optional().describe('Its slug. Left out, it follows from `title`.'),
    title: title.optional(),
  })
  .meta({ id: 'CreateWorkspace', examples: [{ title: 'Acme Shop' }] })
export const patchWorkspaceBody = z
  .strictObject({
    name: name.optional(),
    title: title.nullable().optional().describe('Null for that of `name`.'),
  })
  .meta({ id: 'PatchWorkspace', examples: [{ title: 'Acme Shop' }] })
export const workspaceDeleted = z
  .object({ message: z.literal('Workspace deleted') })
  .meta({ id: 'WorkspaceDeleted' })
export const workspaceLeft = z
  .object({ message: z.literal('Workspace left') })
  .meta({ id: 'WorkspaceLeft' })

export type WorkspaceResource = z.output<typeof workspaceSchema>
