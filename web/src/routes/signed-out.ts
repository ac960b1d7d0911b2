import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { textOf } from '../search-text.ts'
import { root } from './shell.ts'

type SignInSearch = {
  /** Where to go afterwards. */
  readonly to?: string | undefined
  /** Why single sign-on failed. */
  readonly error?: string | undefined
}

export const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ to, error }): SignInSearch => ({ to: textOf(to), error: textOf(error) }),
  component: lazyRouteComponent(() => import('../pages/sign-in/SignInPage.tsx')),
})

export const setUp = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(() => import('../pages/set-up/SetUpPage.tsx')),
})

export const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../pages/invitation/InvitationPage.tsx')),
})

export const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  component: lazyRouteComponent(() => import('../pages/reset/ResetPage.tsx')),
})
