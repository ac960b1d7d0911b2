import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Service } from './service.ts'

type DashboardOptions = {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  readonly locale?: string
}

/** A signed-in dashboard in a browser, and what went wrong in it. */
export type Dashboard = {
  readonly page: Page
  readonly context: BrowserContext
  readonly origin: string
  /** Errors of the console and of scripts, reports of the policy, and requests to other hosts. */
  readonly faults: string[]
  close(): Promise<void>
}

/** Opens a page of the dashboard as a member of the workspace `acme`. */
export async function openDashboard(
  browser: Browser,
  service: Service,
  path: string,
  { theme = 'light', width = 1_280, height = 800, locale = 'en-GB' }: DashboardOptions = {},
): Promise<Dashboard> {
  const origin = `http://localhost:${service.port}`
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    locale,
    timezoneId: 'Europe/Berlin',
    extraHTTPHeaders: { authorization: `Bearer ${await service.token()}` },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  const faults = watchFaults(page, origin)
  await page.route(`${origin}/api/v1/session`, (route) => route.fulfill({ json: SESSION }))
  await page.goto(`${origin}/app${path}`)
  return { page, context, origin, faults, close: () => context.close() }
}

const SESSION = {
  id: '01990000-0000-7000-8000-000000000001',
  person: {
    id: '01990000-0000-7000-8000-000000000002',
    email: 'mira@example.com',
    name: 'Mira Kowalski',
    is_operator: false,
  },
  memberships: [
    {
      workspace_id: '01990000-0000-7000-8000-000000000003',
      workspace_name: 'Acme',
      role: 'owner',
    },
  ],
}

function watchFaults(page: Page, origin: string): string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) faults.push(url)
  })
  return faults
}

/** The rules that a page violates, with the elements. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`)
}
