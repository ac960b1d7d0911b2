import { z } from 'zod'
import { pageOf } from './pagination.ts'
import { line, roleSchema, timestamp, uuid } from './primitives.ts'

const name = line(63).describe('Lower-case letters, digits and hyphens, unique in the instance.')

export const workspaceSchema = z
  .object({
    id: uuid.describe('Identifier of the workspace.'),
    name: z.string().describe('Its name.'),
    role: roleSchema
      .nullable()
      .describe(
        'The role of the person who is signed in; null for an operator who is not a member.',
      ),
    created_at: timestamp.describe('When it was created.'),
  })
  .meta({ id: 'Workspace', description: 'A workspace that the person may see.' })

export const workspaceList = pageOf(workspaceSchema, 'WorkspaceList')
export const createWorkspaceBody = z.strictObject({ name }).meta({ id: 'CreateWorkspace' })
export const patchWorkspaceBody = z
  .strictObject({ name: name.optional() })
  .meta({ id: 'PatchWorkspace' })
export const workspaceDeleted = z
  .object({ message: z.literal('Workspace deleted') })
  .meta({ id: 'WorkspaceDeleted' })
export const workspaceLeft = z
  .object({ message: z.literal('Workspace left') })
  .meta({ id: 'WorkspaceLeft' })

export type WorkspaceResource = z.output<typeof workspaceSchema>
