const SERVICE = 'https://go.example.com'
const DOMAIN = 'go.example.com'

/** Runs when the sheet is opened. */
function onOpen() {
  SpreadsheetApp.getUi()
    .createMenu('Terse')
    .addItem('Shorten the selection', 'shortenSelection')
    .addToUi()
}

/** Writes a short link beside each selected address. What is filled in already stays. */
function shortenSelection() {
  const addresses = SpreadsheetApp.getActiveRange()
  const beside = addresses.offset(0, addresses.getNumColumns(), addresses.getNumRows(), 1)
  const filled = beside.getValues()
  addresses.getValues().forEach(([address], row) => {
    if (address === '' || filled[row][0] !== '') return
    // At once, so that those before an error stay.
    beside.getCell(row + 1, 1).setValue(shorten(String(address)))
  })
}

function shorten(url) {
  const token = PropertiesService.getScriptProperties().getProperty('TERSE_TOKEN')
  const response = UrlFetchApp.fetch(`${SERVICE}/api/v1/links`, {
    method: 'post',
    contentType: 'application/json',
    headers: { Authorization: `Bearer ${token}` },
    payload: JSON.stringify({ domain: DOMAIN, url }),
    muteHttpExceptions: true,
  })
  const { link, message } = JSON.parse(response.getContentText())
  if (response.getResponseCode() !== 201) throw new Error(message)
  return link
}
