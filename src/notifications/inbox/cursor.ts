/** The order of an inbox. No two notifications of a user have the same time, so one key is enough. */
export interface NotificationSort {
  readonly field: 'created_at' | 'updated_at';
  readonly direction: 'asc' | 'desc';
}

/**
 * A position in a paged list. Links and the parameter `cursor` contain it, so that pages neither repeat nor miss a row.
 */
export interface Cursor {
  /**
   * The last sequence of the inbox when the client read the first page. The list leaves out newer notifications, so
   * that its pages do not shift.
   */
  readonly mark: number;
  /** The number of the page, from 1. */
  readonly page: number;
  /**
   * The page starts right after the row at this place, or ends right before it. Without it, `page` selects the page.
   */
  readonly anchor?: Anchor;
}

export interface Anchor {
  readonly side: 'after' | 'before';
  /** The sequence of a row; its change sequence when the list is sorted by `updated_at`. */
  readonly place: number;
}

const cursorPattern = /^(created_at|updated_at):(asc|desc):(\d{1,15}):(\d{1,10})(?::(after|before):(\d{1,15}))?$/;

/** An opaque text, valid for this order only. */
export function encodeCursor({ field, direction }: NotificationSort, { mark, page, anchor }: Cursor): string {
  const parts = [field, direction, mark, page, ...(anchor === undefined ? [] : [anchor.side, anchor.place])];
  return Buffer.from(parts.join(':')).toString('base64url');
}

/** Undefined when the text is no cursor of this order. A forged cursor does no harm: it applies to the caller's inbox. */
export function decodeCursor(text: string, { field, direction }: NotificationSort): Cursor | undefined {
  const parts = cursorPattern.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (parts === null || parts[1] !== field || parts[2] !== direction) return undefined;
  const [mark, page] = [Number(parts[3]), Number(parts[4])];
  const side = parts[5] === 'after' || parts[5] === 'before' ? parts[5] : undefined;
  if (page < 1) return undefined;
  return side === undefined ? { mark, page } : { mark, page, anchor: { side, place: Number(parts[6]) } };
}
