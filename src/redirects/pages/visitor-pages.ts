import { formatHost } from '../../hosts/index.ts'
import { escapeHtml, type PageContent } from './page.ts'

export function unknownHostPage(host: string): PageContent {
  return {
    title: 'This domain is not in use here',
    body: `<p><strong>${escapeHtml(formatHost(host))}</strong> leads to this server, but has not been set up on it, or its set-up has not been proved yet.</p>`,
  }
}

export const NOT_FOUND_PAGE: PageContent = {
  title: 'Link not found',
  body: '<p>There is no link at this address. It may have been mistyped, or removed.</p>',
}

export const EXPIRED_PAGE: PageContent = {
  title: 'This link has expired',
  body: '<p>It was made to work for a limited time, and that time is over.</p>',
}

export const UNAVAILABLE_PAGE: PageContent = {
  title: 'Please try again in a moment',
  body: '<p>This link cannot be looked up just now. Nothing is wrong with it.</p>',
}

export const ELSEWHERE_PAGE: PageContent = {
  title: 'This server does not follow links',
  body: '<p>It is one of several, and this request was meant for another of them.</p>',
}

export const INVALID_REQUEST_PAGE: PageContent = {
  title: 'This request cannot be answered',
  body: '<p>It is not in a form that this server accepts.</p>',
}

export function tooManyAttemptsPage(waitSeconds: number): PageContent {
  return {
    title: 'Too many attempts',
    body: `<p>Too many wrong passwords were tried. Please wait ${secondsText(waitSeconds)}, then go back and try again.</p>`,
  }
}

export function busyPage(waitSeconds: number): PageContent {
  return {
    title: 'Many people are opening this link',
    body: `<p>Your password has not been checked yet. Please wait ${secondsText(waitSeconds)}, then go back and try again.</p>`,
  }
}

function secondsText(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`
}

export function passwordPage(wrong: boolean): PageContent {
  const alert = wrong ? '<p role="alert" id="wrong">That is not the password.</p>' : ''
  const described = wrong ? ' aria-invalid="true" aria-describedby="wrong"' : ''
  return {
    title: 'This link asks for a password',
    body: `${alert}<form method="post">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autofocus autocomplete="off"${described}>
<button type="submit">Continue</button>
</form>`,
  }
}
