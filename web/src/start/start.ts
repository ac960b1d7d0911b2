// A small script in the head of the page, built by itself. Before the dashboard's code runs, it sets the theme, requests
// the page's first data and preloads its code, which would otherwise be found and loaded step by step.
import { preloadCode, runCode } from './code.ts'
import { requestData } from './data.ts'
import { pageOf } from './pages.ts'
import { showTheme } from './theme.ts'

showTheme()
runCode(begin())

/** Settles once the first data is requested. If that fails, the dashboard requests the data itself. */
async function begin(): Promise<void> {
  const page = pageOf(location)
  const requested = requestData(page)
  preloadCode(page)
  await requested
}
