/** The rows of a long table that are drawn: those in view, and some around them. Pure. */
export interface Window {
  readonly first: number;
  /** Index after the last drawn row. */
  readonly end: number;
  /** Heights of the empty space above and below the drawn rows, in pixels. */
  readonly above: number;
  readonly below: number;
}

export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Rows that are drawn beyond the view, so that scrolling shows no gap before the next frame. */
const margin = 12;
/** The index of the first row is a multiple of this, so that scrolling a little draws no other rows. */
const step = 6;

export function windowOf({ scrollTop, height, rowHeight, count }: Viewport): Window {
  const inView = Math.ceil(height / rowHeight);
  const top = Math.max(0, Math.min(Math.floor(scrollTop / rowHeight), count - inView));
  const first = Math.max(0, Math.floor((top - margin) / step) * step);
  const end = Math.min(count, top + inView + margin + step);
  return { first, end, above: first * rowHeight, below: (count - end) * rowHeight };
}

/** Returns the scroll position at which a row is in view; the current one if it is already. */
export function scrollTo(index: number, { scrollTop, height, rowHeight }: Viewport, head: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  const bottom = top + rowHeight + head;
  return bottom > scrollTop + height ? bottom - height : scrollTop;
}
