import { passing, stored } from './connection.ts'
import { disconnect, endSignIn, type RefreshMessage, refresh } from './sign-in.ts'

/** The command that makes a link and copies it, in the popup: the background cannot write to the clipboard. */
const AT_ONCE = 'make-and-copy'

chrome.commands.onCommand.addListener(async (command) => {
  if (command !== AT_ONCE) return
  // Both at once: older versions of Firefox open a popup only while they handle the keys, which ends at the first await.
  const opened = Promise.all([passing.set({ atOnce: true }), chrome.action.openPopup()])
  // Without a window there is no page to shorten.
  await opened.catch(() => passing.remove('atOnce'))
})

chrome.tabs.onUpdated.addListener(async (tabId, { url }) => {
  if (url === undefined || !(await endSignIn(url))) return
  // Replaces the address, which contains the code.
  await chrome.tabs.update(tabId, { url: chrome.runtime.getURL('options.html') })
})

chrome.runtime.onMessage.addListener((message: RefreshMessage, { id }, answer) => {
  if (id !== chrome.runtime.id || message.kind !== 'refresh') return false
  refresh(message.refused).then(
    (isRight) => answer({ isRight }),
    () => answer({}),
  )
  // The answer comes later.
  return true
})

chrome.runtime.onInstalled.addListener(async ({ reason }) => {
  const isNew = (await stored.get('connection')) === undefined
  if (reason === 'install' && isNew) await chrome.runtime.openOptionsPage()
})

chrome.permissions.onRemoved.addListener(async ({ origins = [] }) => {
  const connection = await stored.get('connection')
  if (connection === undefined || origins.length === 0) return
  // Without the permission the sign-in cannot be revoked at the service. It expires there.
  const { hostname } = new URL(connection.origin)
  const isOurs = (pattern: string) => URL.parse(pattern.replace('/*', ''))?.hostname === hostname
  if (origins.some(isOurs)) await disconnect()
})
