import { Link, useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { AddIcon, ChevronRightIcon, SearchIcon } from '../icons/index.ts'
import { Observable } from '../state/observable.ts'
import { useText } from '../text/use-text.ts'
import { ButtonContent, buttonClass } from '../widgets/Button.tsx'
import { LinkName } from '../widgets/LinkName.tsx'
import { WorkspaceMenu } from './Navigation.tsx'
import { keysText } from './shortcuts.ts'

type PageProps = {
  readonly title: string
  /** The short link that the title is: its host is cut before its key. */
  readonly shortLink?: { readonly host: string; readonly key: string } | undefined
  /** For the browser's tab, where it differs. */
  readonly tabTitle?: string | undefined
  /** The page above this one. */
  readonly parent?: ReactNode
  /** Beside the title: other views of what it names. */
  readonly views?: ReactNode
  /** In the top bar in place of the button of the palette. */
  readonly search?: ReactNode
  /** Right in the top bar, in place of search and Create. */
  readonly actions?: ReactNode
  /** `flush` takes all of the width, without padding. */
  readonly isFlush?: boolean
  readonly children: ReactNode
}

/** The top bar with the title, and the content below it. */
export function Page(props: PageProps) {
  const { title, shortLink, tabTitle = title, parent, search, actions, isFlush = false } = props
  const { views, children } = props
  const heading = useLostFocus()
  useEffect(() => {
    document.title = `${tabTitle} · Terse`
  }, [tabTitle])
  return (
    <>
      <header className="top">
        <WorkspaceMenu isInBar />
        {parent === undefined ? (
          <h1 {...heading}>{title}</h1>
        ) : (
          <div className="crumb grow">
            {parent}
            <Icon of={ChevronRightIcon} />
            {shortLink === undefined ? (
              <h1 {...heading}>{title}</h1>
            ) : (
              <h1 {...heading} className="flex">
                <LinkName name={`${shortLink.host}/${shortLink.key}`} />
              </h1>
            )}
          </div>
        )}
        {views}
        {actions === undefined ? <DefaultActions search={search} /> : actions}
      </header>
      <div className={isFlush ? 'page flush' : 'page'}>{children}</div>
    </>
  )
}

/**
 * For the heading, which gets the focus where the page has taken the place of what had it: a screen reader then reads
 * the title, and Tab goes on from there. The page that the dashboard starts with takes the place of nothing.
 */
function useLostFocus() {
  const heading = useRef<HTMLHeadingElement>(null)
  const router = useRouter()
  const [isFirst] = useState(() => router.state.resolvedLocation === undefined)
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (isLost && !isFirst) heading.current?.focus({ preventScroll: true })
  }, [isFirst])
  return { ref: heading, tabIndex: -1 } as const
}

function DefaultActions({ search = <FindButton /> }: Pick<PageProps, 'search'>) {
  const t = useText()
  return (
    <>
      {search}
      <Link to="/links/new" className={buttonClass({ look: 'ink', className: 'desk' })}>
        <ButtonContent icon={AddIcon} shortcut="C">
          {t.shell.createLink}
        </ButtonContent>
      </Link>
    </>
  )
}

/** Opens the palette from the top bar. */
export function FindButton() {
  const t = useText()
  return (
    <button className="find" type="button" onClick={() => paletteOpen.set(true)}>
      <Icon of={SearchIcon} />
      <span>{t.shell.search}</span>
      <kbd aria-hidden>{keysText('mod+k')}</kbd>
    </button>
  )
}

/** Whether the command palette is shown. */
export const paletteOpen = new Observable(false)

/**
 * Leads back to where the person was, with filters, page and scroll. Where the dashboard was opened at this page, it
 * leads to a link, or to all of them.
 */
export function useReturn(linkId?: string): () => void {
  const router = useRouter()
  return () => {
    if (router.history.canGoBack()) router.history.back()
    else if (linkId === undefined) void router.navigate({ to: '/links' })
    else void router.navigate({ to: '/links/$linkId', params: { linkId } })
  }
}

/** In place of a page of a workspace, for a person who is in none. */
export function NoWorkspace() {
  const t = useText()
  return (
    <Page title={t.shell.workspace} actions={null}>
      <p className="note">{t.shell.noWorkspace}</p>
    </Page>
  )
}
