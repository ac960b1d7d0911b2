import { z } from 'zod'
import { timestamp } from './primitives.ts'

const state = z.enum(['ok', 'unavailable'])

const nodeSchema = z
  .object({
    id: z.string().describe('Identifier of the click journal of the process.'),
    name: z.string().describe('Name of the machine.'),
    process: z.int().describe('Number of the process on the machine, from 1.'),
    version: z.string().describe('Version of the program.'),
    state: z.enum(['up', 'lost']).describe('`lost`: not heard of for 90 seconds.'),
    started_at: timestamp.describe('When it started.'),
    heard_at: timestamp.describe('When it was last heard of; every 20 seconds while it runs.'),
    backlog_bytes: z.int().describe('Clicks that it has yet to count, in bytes of its journal.'),
    oldest_click_at: timestamp.nullable().describe('The oldest of them; null where none waits.'),
    untrusted_proxy: z
      .string()
      .nullable()
      .describe(
        'Address of a proxy from which visits come and which `TERSE_TRUST_PROXY` does not name; null where none was seen.',
      ),
  })
  .meta({ id: 'Node', description: 'A process that serves links or the API.' })

export const instanceSchema = z
  .object({
    version: z.string().describe('Version of the program that answers.'),
    node_version: z.string().describe('Version of Node.js.'),
    base_url: z.string().describe('Address of the service.'),
    database: z.string().describe('The database and its version.'),
    roles: z
      .record(z.string(), state)
      .describe('What the node that answers does, and whether it can do it now.'),
    lost_clicks: z
      .int()
      .describe(
        'Clicks that this node could not store, or lost with damaged journals. The count outlives restarts.',
      ),
    doubtful_clicks: z
      .int()
      .describe('Clicks that may not have reached a failing disk since this node started.'),
    damaged_files: z
      .array(z.string())
      .describe('Files of the data folder that the last check found damaged.'),
    data_folder_fault: z
      .string()
      .nullable()
      .describe('Why nothing can be written to the data folder; null while it can.'),
    journal_fault: z
      .string()
      .nullable()
      .describe('Why clicks cannot be stored; null while they can.'),
    clicks_fault: z
      .string()
      .nullable()
      .describe(
        'Why clicks are not counted and charts cannot be read, where clicks are in ClickHouse; null while they can.',
      ),
    is_disk_low: z
      .boolean()
      .describe(
        'Whether less than `TERSE_DISK_LOW_PERCENT` of the disk of the data folder is free.',
      ),
    counted_until: timestamp
      .nullable()
      .describe(
        'Until when all clicks are counted; null while counting is less than ten seconds behind.',
      ),
    nodes: z.array(nodeSchema).describe('All nodes, by name, as of their last heartbeat.'),
    certificates: z
      .object({
        valid: z.int(),
        expiring: z.int().describe('Those that expire within seven days.'),
        expired: z.int(),
        failing: z.int().describe('Hosts whose last order failed.'),
      })
      .nullable()
      .describe('Hosts by the state of their certificate; null where a proxy handles HTTPS.'),
  })
  .meta({ id: 'Instance', description: 'The state of the instance.' })

const findingSchema = z
  .object({
    subject: z.string().describe('What was checked, such as `database`.'),
    state: z.enum(['ok', 'warning', 'problem', 'skipped']).describe('`skipped`: not checked.'),
    text: z.string().describe('What was found, in English.'),
    advice: z.string().nullable().describe('What to do about it; null where nothing.'),
  })
  .meta({ id: 'Finding', description: 'The result of one check.' })

export const diagnosisSchema = z
  .object({
    checked_at: timestamp.describe('When the checks ended.'),
    findings: z.array(findingSchema),
  })
  .meta({ id: 'Diagnosis', description: 'What `terse doctor` reports on the node that answers.' })

export type InstanceResource = z.output<typeof instanceSchema>
export type NodeResource = z.output<typeof nodeSchema>
export type DiagnosisResource = z.output<typeof diagnosisSchema>
export type FindingResource = z.output<typeof findingSchema>
