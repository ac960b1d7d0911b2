import { fileURLToPath } from 'node:url'
import { findDocumentFaults } from './document-faults.ts'

const faults = findDocumentFaults(fileURLToPath(new URL('..', import.meta.url)))
for (const fault of faults) process.stdout.write(`${fault}\n`)
process.exitCode = faults.length > 0 ? 1 : 0
