import './styles/index.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createAppRouter, loadPageCode } from './router.ts'
import { keepScroll } from './shell/keep-scroll.ts'
import { Layers } from './shell/Shell.tsx'
import './state/preference.ts'
import { loadText } from './text/language.ts'

const client = new QueryClient({
  defaultOptions: {
    // Errors are shown at once, with what was loaded before; OutageNote tries again. Without a connection
    // requests would otherwise wait, and nothing would say so.
    queries: { retry: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
})
const router = createAppRouter(client)
const element = document.getElementById('app')
if (element === null) throw new Error('the page has no element for the dashboard')

keepScroll()
loadPageCode(router)
await loadText()
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Layers>
        <RouterProvider router={router} />
      </Layers>
    </QueryClientProvider>
  </StrictMode>,
)
