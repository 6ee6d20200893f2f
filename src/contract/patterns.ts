/** Any 8-4-4-4-12 hex form: published examples of the interface are not RFC 9562 variants and must work. */
export const uuidPattern = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** Device ids that stand for something else: the buckets of guess budgets that belong to no one device. */
export const reservedDevicePattern = '^0{8}-0{4}-0{4}-0{4}-0{11}[0-9a-fA-F]$';

export const pinPattern = '^[0-9]{4,12}$';
