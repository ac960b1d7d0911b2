import { CSPProvider } from '@base-ui/react/csp-provider'
import { Tooltip } from '@base-ui/react/tooltip'
import { lazy, Suspense } from 'react'
import { Toasts } from '../widgets/Toasts.tsx'

const ExactTimes = lazy(() => import('../widgets/ExactTimes.tsx'))

const TOOLTIP_DELAY_MS = 400

/** What widgets need around them. It surrounds the router, so that a message outlives the page that shows it. */
export function Layers({ children }: { children: React.ReactNode }) {
  return (
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={TOOLTIP_DELAY_MS}>
        {children}
        <Toasts />
        <Suspense fallback={null}>
          <ExactTimes />
        </Suspense>
      </Tooltip.Provider>
    </CSPProvider>
  )
}
