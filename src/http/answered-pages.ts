/** A page as it was answered. */
export interface AnsweredPage {
  readonly headers: Readonly<Record<string, string>>;
  /** A string, since a buffer would be made and collected for each page that is not asked for again. */
  readonly body: string;
}

/**
 * Pages that this process has answered with, each for one state of an inbox. A caller first reads the state from the
 * database, in the same request. A page of another state is not found, so no instance has to hear of a change.
 */
export interface AnsweredPages {
  /** Whether a page of this request is here, of any state: if not, reading the state alone is of no use. */
  has(userId: string, request: string): boolean;
  find(userId: string, request: string, state: string): AnsweredPage | undefined;
  keep(userId: string, request: string, state: string, page: AnsweredPage): void;
}

/** Pages that are kept of one user, and bytes of the largest page that is kept. */
const most = { pages: 4, bytes: 128 * 1024 };
/** Bytes of the objects around a page. */
const overhead = 1000;

interface Inbox {
  readonly state: string;
  readonly pages: Map<string, AnsweredPage>;
}

/**
 * @param bytes the limit of all pages together. The memory has two halves. When the newer half is full, it becomes the
 *   older one, and the pages of the older one are dropped; a page that is found moves to the newer half.
 */
export function createAnsweredPages(bytes: number): AnsweredPages {
  let recent = createHalf();
  let older = createHalf();

  const inboxOf = (userId: string) => recent.inboxes.get(userId) ?? older.inboxes.get(userId);

  function keep(userId: string, request: string, state: string, page: AnsweredPage): void {
    const size = sizeOf(request, page);
    if (size > most.bytes) return;
    if (recent.bytes + size > bytes / 2) {
      older = recent;
      recent = createHalf();
    }
    recent.keep(userId, request, state, page);
  }

  return {
    has: (userId, request) => inboxOf(userId)?.pages.has(request) === true,
    find(userId, request, state) {
      const inbox = inboxOf(userId);
      const page = inbox?.state === state ? inbox.pages.get(request) : undefined;
      if (page !== undefined && inbox !== recent.inboxes.get(userId)) keep(userId, request, state, page);
      return page;
    },
    keep,
  };
}

/** Strings count two bytes a character, the most that they take. */
function sizeOf(request: string, { headers, body }: AnsweredPage): number {
  const characters = Object.values(headers).reduce((sum, value) => sum + value.length, request.length + body.length);
  return 2 * characters + overhead;
}

function createHalf() {
  const inboxes = new Map<string, Inbox>();
  let bytes = 0;
  const drop = (pages: Map<string, AnsweredPage>, request: string) => {
    const page = pages.get(request);
    if (page !== undefined && pages.delete(request)) bytes -= sizeOf(request, page);
  };
  return {
    inboxes,
    get bytes() {
      return bytes;
    },
    keep(userId: string, request: string, state: string, page: AnsweredPage): void {
      const known = inboxes.get(userId);
      if (known !== undefined && known.state !== state) for (const old of known.pages.keys()) drop(known.pages, old);
      const pages = known?.pages ?? new Map<string, AnsweredPage>();
      inboxes.set(userId, { state, pages });
      drop(pages, request);
      pages.set(request, page);
      bytes += sizeOf(request, page);
      const [first = ''] = pages.keys();
      if (pages.size > most.pages) drop(pages, first);
    },
  };
}
