import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ME_KEY, type MeResource, setPassword } from '../../../api/me.ts'
import { LeaveGuard } from '../../../shell/LeaveGuard.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { PasswordField } from '../../../widgets/PasswordField.tsx'
import { showMessage } from '../../../widgets/toasts.ts'
import { Section } from '../Section.tsx'

/** As the API counts. */
const LENGTH_MIN = 15
const LENGTH_MIN_WITH_FACTOR = 10

export function PasswordForm({ me }: { me: MeResource }) {
  const t = useText()
  const client = useQueryClient()
  const [password, setTyped] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => setPassword(password),
    onSuccess() {
      setTyped('')
      showMessage(t.account.passwordChanged)
      void client.invalidateQueries({ queryKey: ME_KEY })
    },
  })
  const faults = useFaults(error, ['password'])
  const hasFactor = me.has_totp || me.passkeys > 0
  const lengthMin = hasFactor ? LENGTH_MIN_WITH_FACTOR : LENGTH_MIN
  return (
    <Section
      title={t.account.password}
      hint={me.has_password ? t.account.passwordHint : t.account.noPassword}
      isFirst
    >
      <form
        className="grid gap-4 max-w-[420px]"
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <LeaveGuard isOn={() => password !== '' && !isPending} />
        <FormNote text={faults.general} />
        {/* Password managers see whose password it is. */}
        <input type="email" autoComplete="username" value={me.email} readOnly hidden />
        <PasswordField
          label={t.account.newPassword}
          aside={<span className="hint">{t.account.passwordAside(lengthMin)}</span>}
          errors={faults.of('password')}
          lengthMin={lengthMin}
          required
          autoComplete="new-password"
          value={password}
          onChange={setTyped}
        />
        <div>
          <Button type="submit" isBusy={isPending}>
            {me.has_password ? t.account.changePassword : t.account.setPassword}
          </Button>
        </div>
      </form>
    </Section>
  )
}
