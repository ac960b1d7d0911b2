import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import type { Terminal } from '../../platform/cli/terminal.ts'
import { buildProgram } from './program.ts'

/** They print no result. */
const WITHOUT = ['serve', 'completion', 'worker', 'listed']

function actions(command: Command, path: readonly string[] = []): [string, Command][] {
  const below = command.commands.flatMap((each) => actions(each, [...path, each.name()]))
  const isGroup = below.length > 0 && command.registeredArguments.length === 0
  return path.length === 0 || isGroup ? below : [...below, [path.join(' '), command]]
}

test('every command that has a result can print it as JSON', () => {
  const lacking = actions(buildProgram({} as Terminal))
    .filter(([, { options }]) => !options.some(({ long }) => long === '--json'))
    .map(([name]) => name)
  assert.deepEqual(lacking, WITHOUT)
})
