import { runCli } from './app/cli/run-cli.ts'

await runCli(process.argv.slice(2))
