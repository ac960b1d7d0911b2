import { request } from './request.ts'

/** The page of the service that leads to the provider of single sign-on, and then back. */
export function oidcStartPath(returnTo: string): string {
  return `/app/oidc/start?${new URLSearchParams({ return_to: returnTo })}`
}

/** Returns the page of the provider on which a new person signs in to accept an invitation. */
export async function startOidcInvitation(invitation: string): Promise<string> {
  const body = { invitation, return_to: '/app/links' }
  return (await request<{ url: string }>('POST', '/session/oidc', { body, isSilent: true })).url
}

/** Ends all other sessions of the person. */
export function unlinkIdentity(id: string): Promise<unknown> {
  return request('DELETE', `/me/identities/${id}`)
}

/** Returns the page of the provider on which the person signs in to link that account. */
export async function startOidcLink(returnTo: string): Promise<string> {
  const body = { return_to: returnTo }
  return (await request<{ url: string }>('POST', '/me/identities', { body })).url
}
