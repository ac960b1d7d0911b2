import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useText } from '../text/use-text.ts'
import { showError, showMessage } from '../widgets/toasts.ts'
import { SignInCancelled } from './sign-in-cancelled.ts'
import { errorText } from './use-faults.ts'

type ChangeOptions<V> = {
  /** Queries that show something else afterwards. */
  readonly keys: readonly QueryKey[]
  readonly message?: (given: V) => string
}

/** A change without a form: a message says that it was made, or why not. */
export function useChange<V, R>(
  change: (given: V) => Promise<R>,
  { keys, message }: ChangeOptions<V>,
) {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    async onSuccess(_result, given) {
      if (message !== undefined) showMessage(message(given))
      await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))
    },
    onError(error) {
      if (!(error instanceof SignInCancelled)) showError(errorText(error, t))
    },
  })
}
