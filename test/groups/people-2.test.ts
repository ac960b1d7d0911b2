import { runGroup } from '../support/test-groups.ts'

runGroup(import.meta.url)
