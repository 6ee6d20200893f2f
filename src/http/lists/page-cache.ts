/** The headers and the body of a page. */
export interface StoredPage {
  readonly headers: Readonly<Record<string, string>>;
  /** A string. A buffer would be allocated and collected for each page, also for pages that are not requested again. */
  readonly body: string;
}

/**
 * Caches the pages that this process has sent, each for one state of an inbox. A caller first reads the state from the
 * database, in the same request. A page of another state is not found, so instances need no invalidation messages.
 */
export interface PageCache {
  /** Whether there is a page for this request in any state. If not, the caller does not need to read the state. */
  has(userId: string, request: string): boolean;
  find(userId: string, request: string, state: string): StoredPage | undefined;
  store(userId: string, request: string, state: string, page: StoredPage): void;
}

/** The maximum number of cached pages of a user, and the maximum size of a cached page in bytes. */
const limits = { pages: 4, bytes: 128 * 1024 };
/** The size of the objects around a page, in bytes. */
const overhead = 1000;

interface Inbox {
  readonly state: string;
  readonly pages: Map<string, StoredPage>;
}

/**
 * @param bytes the maximum size of all pages. The cache has two halves. When the newer half is full, the older half is
 *   dropped and the newer half becomes the older one. A page that is found moves to the newer half.
 */
export function createPageCache(bytes: number): PageCache {
  let recent = createHalf();
  let older = createHalf();

  const inboxOf = (userId: string) => recent.inboxes.get(userId) ?? older.inboxes.get(userId);

  function keep(userId: string, request: string, state: string, page: StoredPage): void {
    const size = sizeOf(request, page);
    if (size > limits.bytes) return;
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
    store: keep,
  };
}

/** The size of a page in bytes. It counts two bytes for each character, the maximum in memory. */
function sizeOf(request: string, { headers, body }: StoredPage): number {
  const characters = Object.values(headers).reduce((sum, value) => sum + value.length, request.length + body.length);
  return 2 * characters + overhead;
}

function createHalf() {
  const inboxes = new Map<string, Inbox>();
  let bytes = 0;
  const drop = (pages: Map<string, StoredPage>, request: string) => {
    const page = pages.get(request);
    if (page !== undefined && pages.delete(request)) bytes -= sizeOf(request, page);
  };
  return {
    inboxes,
    get bytes() {
      return bytes;
    },
    keep(userId: string, request: string, state: string, page: StoredPage): void {
      const known = inboxes.get(userId);
      if (known !== undefined && known.state !== state) for (const old of known.pages.keys()) drop(known.pages, old);
      const pages = known?.pages ?? new Map<string, StoredPage>();
      inboxes.set(userId, { state, pages });
      drop(pages, request);
      pages.set(request, page);
      bytes += sizeOf(request, page);
      const [first = ''] = pages.keys();
      if (pages.size > limits.pages) drop(pages, first);
    },
  };
}
