import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { sessionQuery } from '../../api/session.ts'
import { Brand } from '../../shell/Brand.tsx'
import { Layers } from '../../shell/Shell.tsx'
import { useSignIn } from '../../shell/SignInForm.tsx'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'

const route = getRouteApi('/sign-in')

export default function SignInPage() {
  const t = useText()
  const { to } = route.useSearch()
  const router = useRouter()
  const client = useQueryClient()
  const { submit, isBusy, fields } = useSignIn('sign in', undefined, async (session) => {
    client.setQueryData(sessionQuery.queryKey, session)
    // Only paths of this dashboard: the address bar is not to be trusted.
    const path = to?.startsWith('/') && !to.startsWith('//') ? to : '/links'
    await router.navigate({ to: path, replace: true })
  })
  return (
    <Layers>
      <div className="solo">
        <header>
          <Brand />
        </header>
        <main>
          <form
            className="box"
            onSubmit={(event) => {
              event.preventDefault()
              submit()
            }}
          >
            <h1>{t.signIn.title}</h1>
            {fields}
            <Button type="submit" look="ink" isBusy={isBusy}>
              {t.signIn.submit}
            </Button>
          </form>
        </main>
      </div>
    </Layers>
  )
}
