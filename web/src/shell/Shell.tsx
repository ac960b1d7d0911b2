import { CSPProvider } from '@base-ui/react/csp-provider'
import { useQueryClient } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { useObservable } from '../state/observable.ts'
import { useText } from '../text/use-text.ts'
import { Tips } from '../widgets/Tips.tsx'
import { Toasts, undoLastAct } from '../widgets/Toasts.tsx'
import { OutageNote } from './LoadFailure.tsx'
import { BottomBar, Sidebar } from './Navigation.tsx'
import { paletteOpen } from './Page.tsx'
import { refreshFigures } from './refresh-figures.ts'
import { SignInGate } from './SignInGate.tsx'
import { handleKey, useShortcut } from './shortcuts.ts'

const CommandPalette = lazy(() => import('./CommandPalette.tsx'))
const ShortcutList = lazy(() => import('./ShortcutList.tsx'))

/** What surrounds every page of a person who is signed in. */
export function Shell() {
  const t = useText()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [areShortcutsOpen, setShortcutsOpen] = useState(false)
  const isPaletteOpen = useObservable(paletteOpen)
  useEffect(() => {
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [])
  useEffect(() => refreshFigures(client), [client])
  useShortcut(
    'mod+k',
    (text) => text.shortcuts.palette,
    () => paletteOpen.set(true),
  )
  useShortcut(
    'c',
    (text) => text.shell.createLink,
    () => void navigate({ to: '/links/new' }),
  )
  useShortcut(
    '?',
    (text) => text.shortcuts.list,
    () => setShortcutsOpen(true),
  )
  useShortcut('z', (text) => text.shortcuts.undo, undoLastAct)
  return (
    <>
      <a className="skip" href="#main">
        {t.shell.skip}
      </a>
      <div className="app">
        <Sidebar />
        <main className="main" id="main" tabIndex={-1}>
          <OutageNote />
          <Outlet />
        </main>
        <BottomBar />
      </div>
      <SignInGate />
      <Suspense fallback={null}>
        {isPaletteOpen && <CommandPalette onShortcuts={() => setShortcutsOpen(true)} />}
        {areShortcutsOpen && <ShortcutList onClose={() => setShortcutsOpen(false)} />}
      </Suspense>
    </>
  )
}

/** What widgets need around them, and what lies above every page: messages outlive the page that shows them. */
export function Layers({ children }: { children: ReactNode }) {
  return (
    <CSPProvider disableStyleElements>
      {children}
      <Toasts />
      <Tips />
    </CSPProvider>
  )
}
