/** What an inbox is sorted by. No two notifications of a user share a time, so one key decides. */
export interface NotificationSort {
  readonly field: 'created_at' | 'updated_at';
  readonly direction: 'asc' | 'desc';
}

/** Where a walk through an inbox stands: what links and `cursor` carry, so that its pages stay in line. */
export interface Cursor {
  /** Leaves out what arrived after this sequence: the head's number when the walk began. */
  readonly mark: number;
  /** The page's number in the walk, from 1. */
  readonly page: number;
  /** The page starts right behind the row at this place, or ends right before it. Without it, the number counts. */
  readonly anchor?: Anchor;
}

export interface Anchor {
  readonly side: 'after' | 'before';
  /** The sequence of a row, or its change sequence in the order of `updated_at`. */
  readonly place: number;
}

const PATTERN = /^(created_at|updated_at):(asc|desc):(\d{1,15}):(\d{1,10})(?::(after|before):(\d{1,15}))?$/;

/** An opaque text, good for this order alone. */
export function encodeCursor({ field, direction }: NotificationSort, { mark, page, anchor }: Cursor): string {
  const parts = [field, direction, mark, page, ...(anchor === undefined ? [] : [anchor.side, anchor.place])];
  return Buffer.from(parts.join(':')).toString('base64url');
}

/** Undefined when the text is no cursor of this order. What it says is not secret, and reaches the own inbox only. */
export function decodeCursor(text: string, { field, direction }: NotificationSort): Cursor | undefined {
  const parts = PATTERN.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (parts === null || parts[1] !== field || parts[2] !== direction) return undefined;
  const [mark, page] = [Number(parts[3]), Number(parts[4])];
  const side = parts[5] === 'after' || parts[5] === 'before' ? parts[5] : undefined;
  if (page < 1) return undefined;
  return side === undefined ? { mark, page } : { mark, page, anchor: { side, place: Number(parts[6]) } };
}
