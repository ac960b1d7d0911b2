import { runCli } from '../../test/support/run-cli.ts'

/** A token of the one workspace that a bench works in; its first use makes the database. */
export async function createToken(env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runCli(['token', 'create', '--workspace', 'bench'], env)
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}
