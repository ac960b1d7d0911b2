// A small script in the head of the page, built apart. It sets the theme before the first paint, requests the first data,
// and has loaded what the page will need beside the code that would otherwise ask for it step by step.
import { preloadCode, runCode } from './code.ts'
import { requestData } from './data.ts'
import { pageOf } from './pages.ts'
import { showTheme } from './theme.ts'

showTheme()
runCode(begin())

/** Settles once the first data is requested. Without it the dashboard only starts later. */
async function begin(): Promise<void> {
  const page = pageOf(location)
  const requested = requestData(page)
  preloadCode(page)
  await requested
}
