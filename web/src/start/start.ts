// A small script in the head of the page, built apart. It sets the theme before the first paint, and has loaded what
// the page will need beside the code that would otherwise ask for it step by step: its code, its words, its data.
import { preloadCode } from './code.ts'
import { requestData } from './data.ts'
import { showTheme } from './theme.ts'

showTheme()
preloadCode()
requestData()
