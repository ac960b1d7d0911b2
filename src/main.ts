import { runCli } from './cli/run-cli.ts'

await runCli(process.argv.slice(2))
