import { Link, useNavigate } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import type { AnalyticsPageSearch, ConversionsSearch } from './analytics-search.ts'

type Change = Partial<AnalyticsPageSearch & ConversionsSearch>

type ChangeLinkProps = Omit<ComponentProps<'a'>, 'href' | 'target'> & {
  readonly change: Change
}

/** Leads to the same page with a change to what it shows. */
export function ChangeLink({ change, ...props }: ChangeLinkProps) {
  return (
    <Link
      to="."
      search={((before: object) => ({ ...before, ...change })) as never}
      resetScroll={false}
      preload={false}
      // The address of this page is part of every such link: none of them is "the current page".
      activeOptions={{ exact: true, includeSearch: true }}
      {...props}
    />
  )
}

/** Changes the address; Back returns to what was shown before. */
export function useAddressChange(): (change: Change) => void {
  const navigate = useNavigate()
  return (change) =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...change }),
      resetScroll: false,
    } as Parameters<typeof navigate>[0])
}
