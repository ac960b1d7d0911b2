import type { InstanceResource } from '../api/instance.ts'

export type InstanceProblem =
  | { readonly kind: 'role' | 'node' | 'counting' | 'disk' | 'certificates' }
  | { readonly kind: 'folder' | 'files'; readonly text: string }
  | { readonly kind: 'proxy'; readonly address: string }
