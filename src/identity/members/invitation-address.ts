/** The page that accepts an invitation. Browsers do not send what is behind `#`, so no log has the code. */
export function invitationAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/invitation#code=${code}`
}
