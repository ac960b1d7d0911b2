import { useMembership } from './use-membership.ts'

/** The host of the service itself, on which every workspace can have links. */
export function useServiceHost(): string {
  return useMembership().session.service_host
}
