/** The headers and the body of a page. */
export interface StoredPage {
  readonly headers: Readonly<Record<string, string>>;
  /** A string, because the framework serializes to strings. A buffer would need a conversion for each page. */
  readonly body: string;
}

/**
 * Caches the pages that this process has sent. Each page belongs to a version of its inbox: a text that changes with every
 * change of the inbox. A caller first reads the current version from the database, and finds only pages of this version.
 * So instances need no invalidation messages.
 */
export interface PageCache {
  /** Whether there is a page for this request, of any version. If not, the caller does not need to read the version. */
  has(userId: string, request: string): boolean;
  find(userId: string, request: string, version: string): StoredPage | undefined;
  store(userId: string, request: string, version: string, page: StoredPage): void;
}

const maxPagesPerUser = 4;
/** A larger page is not cached. */
const maxPageBytes = 128 * 1024;
/** The bytes that a cached page needs in addition to its text: the map, its entry and the headers. An estimate. */
const overhead = 1000;

interface Inbox {
  readonly version: string;
  readonly pages: Map<string, StoredPage>;
}

/**
 * Creates a cache with two halves. When the newer half is full, the older half is dropped, and the newer half becomes the
 * older one. A page that is found in the older half is copied to the newer half.
 * @param maxBytes the size of both halves
 */
export function createPageCache(maxBytes: number): PageCache {
  let recent = createHalf();
  let older = createHalf();

  const inboxOf = (userId: string) => recent.inboxes.get(userId) ?? older.inboxes.get(userId);

  function store(userId: string, request: string, version: string, page: StoredPage): void {
    const size = sizeOf(request, page);
    if (size > maxPageBytes) return;
    if (recent.bytes + size > maxBytes / 2) {
      older = recent;
      recent = createHalf();
    }
    recent.store(userId, request, version, page);
  }

  return {
    has: (userId, request) => inboxOf(userId)?.pages.has(request) === true,
    find(userId, request, version) {
      const inbox = inboxOf(userId);
      const page = inbox?.version === version ? inbox.pages.get(request) : undefined;
      if (page !== undefined && inbox !== recent.inboxes.get(userId)) store(userId, request, version, page);
      return page;
    },
    store,
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
    store(userId: string, request: string, version: string, page: StoredPage): void {
      const inbox = inboxes.get(userId);
      if (inbox !== undefined && inbox.version !== version)
        for (const oldRequest of inbox.pages.keys()) drop(inbox.pages, oldRequest);
      const pages = inbox?.pages ?? new Map<string, StoredPage>();
      inboxes.set(userId, { version, pages });
      drop(pages, request);
      pages.set(request, page);
      bytes += sizeOf(request, page);
      const [oldestRequest = ''] = pages.keys();
      if (pages.size > maxPagesPerUser) drop(pages, oldestRequest);
    },
  };
}
