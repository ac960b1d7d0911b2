import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { AddIcon, ChevronRightIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { ButtonContent, buttonClass } from '../widgets/Button.tsx'
import { LinkName } from '../widgets/LinkName.tsx'
import { FindButton } from './FindButton.tsx'
import { IsFirstPage, useAtLeisure, useIsFirstPage } from './first-page.ts'
import { WorkspaceMenu } from './WorkspaceMenu.tsx'

type PageProps = {
  readonly title: string
  /** The short link that the title is: its host is cut before its key. */
  readonly shortLink?: { readonly host: string; readonly key: string } | undefined
  /** For the browser's tab, where it differs. */
  readonly tabTitle?: string | undefined
  /** The page above this one. */
  readonly parent?: ReactNode
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
  const { children } = props
  const isFirst = useIsFirstPage()
  const isAtLeisure = useAtLeisure(isFirst)
  const heading = useLostFocus(isFirst)
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
        {actions === undefined ? <DefaultActions search={search} /> : actions}
      </header>
      <div className={isFlush ? 'page flush' : 'page'}>
        <IsFirstPage value={isFirst}>{isAtLeisure && children}</IsFirstPage>
      </div>
    </>
  )
}

/**
 * For the heading, which gets the focus where the page has taken the place of what had it: a screen reader then reads
 * the title, and Tab goes on from there.
 */
function useLostFocus(isFirst: boolean) {
  const heading = useRef<HTMLHeadingElement>(null)
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
