import { Failure } from '../failure.ts'
import type { Terminal } from './terminal.ts'

/**
 * Asks a person before what cannot be undone.
 *
 * @param isConfirmed whether `--yes` was given, which answers the question
 * @throws when the person declines; `validation_failed` where nobody can be asked: a script must say that it means it
 */
export async function confirmDeletion(
  terminal: Pick<Terminal, 'confirm'>,
  what: string,
  isConfirmed: boolean,
): Promise<void> {
  if (isConfirmed) return
  const answer = await terminal.confirm(`Delete ${what}? This cannot be undone.`)
  if (answer === undefined) {
    throw Failure.invalidCommand('--yes is needed where no terminal can ask')
  }
  if (!answer) throw new Error('Nothing was deleted.')
}
