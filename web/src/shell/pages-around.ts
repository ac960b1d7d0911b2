/**
 * The pages that a pager shows: both ends, and those beside the current one.
 *
 * @returns page numbers from 1; undefined for a gap
 */
export function pagesAround(current: number, last: number): readonly (number | undefined)[] {
  const shown = [1, current - 1, current, current + 1, last]
  const numbers = [...new Set(shown)]
    .filter((page) => page >= 1 && page <= last)
    .sort((a, b) => a - b)
  return numbers.flatMap((page, nth) => {
    const before = numbers[nth - 1]
    if (before === undefined || page - before === 1) return [page]
    // A gap of one page takes as much room as the page.
    return page - before === 2 ? [page - 1, page] : [undefined, page]
  })
}
