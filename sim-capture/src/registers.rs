//! Values of guest registers, available from engines with API 3 and later only.

#[cfg(feature = "api-v2")]
mod family {
    use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
    use std::sync::OnceLock;

    /// The engine's handle of a register; opaque.
    #[repr(C)]
    struct Handle {
        _private: [u8; 0],
    }

    /// One entry of the engine's register list.
    #[repr(C)]
    struct Descriptor {
        handle: *mut Handle,
        name: *const c_char,
        feature: *const c_char,
    }

    /// The two documented fields of a glib array.
    #[repr(C)]
    struct Array {
        data: *mut u8,
        len: c_uint,
    }

    unsafe extern "C" {
        fn qemu_plugin_get_registers() -> *mut Array;
        fn qemu_plugin_read_register(handle: *mut Handle, to: *mut Array) -> c_int;
        // The engine is linked with glib.
        fn g_byte_array_new() -> *mut Array;
        fn g_byte_array_set_size(array: *mut Array, size: c_uint) -> *mut Array;
        fn g_byte_array_free(array: *mut Array, free_data: c_int) -> *mut c_void;
    }

    /// Handles of the registers that the plugin reads.
    struct Handles {
        x: [*mut Handle; 31],
        sp: *mut Handle,
        vectors: *mut Handle,
        syndrome: *mut Handle,
        link: *mut Handle,
        table: *mut Handle,
        /// Handles of Z0 and of P0 to P15, if the guest has SVE.
        vectors_of_sve: Option<(*mut Handle, [*mut Handle; 16])>,
    }

    // SAFETY: to the engine handles are numbers, the same for all virtual CPUs and threads.
    unsafe impl Send for Handles {}
    // SAFETY: as above.
    unsafe impl Sync for Handles {}

    static HANDLES: OnceLock<Option<Handles>> = OnceLock::new();

    /// Looks up the registers. Returns true if all exist. Must be called from the callback that
    /// announces a virtual CPU.
    pub(crate) fn find() -> bool {
        HANDLES.get_or_init(look_up).is_some()
    }

    fn look_up() -> Option<Handles> {
        // SAFETY: the engine returns an array of descriptors with C strings that live as long as it
        // does.
        let list = unsafe {
            let array = qemu_plugin_get_registers();
            let array = array.as_ref()?;
            std::slice::from_raw_parts(array.data.cast::<Descriptor>(), array.len as usize)
        };
        let find = |wanted: &str| {
            // SAFETY: as above.
            let is_it =
                |d: &&Descriptor| unsafe { CStr::from_ptr(d.name) }.to_bytes() == wanted.as_bytes();
            list.iter().find(is_it).map(|descriptor| descriptor.handle)
        };
        let mut x = [std::ptr::null_mut(); 31];
        for (number, slot) in x.iter_mut().enumerate() {
            *slot = find(&format!("x{number}"))?;
        }
        let mut predicates = [std::ptr::null_mut(); 16];
        let mut has_predicates = true;
        for (number, slot) in predicates.iter_mut().enumerate() {
            let handle = find(&format!("p{number}"));
            has_predicates &= handle.is_some();
            *slot = handle.unwrap_or(*slot);
        }
        Some(Handles {
            x,
            vectors_of_sve: find("z0").filter(|_| has_predicates).map(|first| (first, predicates)),
            sp: find("sp")?,
            vectors: find("VBAR").or_else(|| find("VBAR_EL1"))?,
            syndrome: find("ESR_EL1")?,
            link: find("ELR_EL1")?,
            table: find("TTBR0_EL1")?,
        })
    }

    fn read(pick: impl FnOnce(&Handles) -> *mut Handle) -> Option<u64> {
        bytes(pick(HANDLES.get()?.as_ref()?)).map(u64::from_le_bytes)
    }

    /// Returns the lowest `N` bytes of a register, or `None` if it is shorter.
    fn bytes<const N: usize>(handle: *mut Handle) -> Option<[u8; N]> {
        // SAFETY: callers are callbacks registered as reading registers; this function owns the
        // array, and the engine fills it with at most the bytes of a register.
        unsafe {
            let array = g_byte_array_new();
            g_byte_array_set_size(array, 0);
            let length = qemu_plugin_read_register(handle, array);
            let bytes = std::slice::from_raw_parts((*array).data, (*array).len as usize);
            let value = bytes.first_chunk().copied();
            g_byte_array_free(array, 1);
            value.filter(|_| length > 0)
        }
    }

    /// Returns X0 to X30, or 0 for number 31, the zero register.
    pub(crate) fn x(number: u32) -> Option<u64> {
        match number {
            31 => Some(0),
            _ => read(|handles| handles.x[number as usize & 31]),
        }
    }

    /// Returns X0 to X30, or the stack pointer for number 31.
    pub(crate) fn x_or_sp(number: u32) -> Option<u64> {
        match number {
            31 => read(|handles| handles.sp),
            _ => x(number),
        }
    }

    /// Returns the 16 bits of a predicate P0 to P15 if vectors have 16 bytes; `None` if they are
    /// longer.
    pub(crate) fn p(number: u32) -> Option<u16> {
        static IS_SHORT: OnceLock<bool> = OnceLock::new();
        let (first, predicates) = HANDLES.get()?.as_ref()?.vectors_of_sve?;
        let is_short = || bytes::<16>(first).is_some() && bytes::<17>(first).is_none();
        // The engine returns four times as many bits as the register has.
        let bits = IS_SHORT.get_or_init(is_short).then(|| bytes(predicates[number as usize & 15]));
        bits.flatten().map(u16::from_le_bytes)
    }

    /// Returns `VBAR_EL1`.
    pub(crate) fn vectors() -> Option<u64> {
        read(|handles| handles.vectors)
    }

    /// Returns `TTBR0_EL1`.
    pub(crate) fn table() -> Option<u64> {
        read(|handles| handles.table)
    }

    /// Returns `ESR_EL1` and `ELR_EL1`.
    pub(crate) fn exception() -> Option<(u64, u64)> {
        Some((read(|handles| handles.syndrome)?, read(|handles| handles.link)?))
    }
}

#[cfg(not(feature = "api-v2"))]
mod family {
    /// Returns false: API 1 has no registers.
    pub(crate) fn find() -> bool {
        false
    }

    /// Returns `None`: API 1 has no registers.
    pub(crate) fn x(_number: u32) -> Option<u64> {
        None
    }

    /// Returns `None`: API 1 has no registers.
    pub(crate) fn x_or_sp(_number: u32) -> Option<u64> {
        None
    }

    /// Returns `None`: API 1 has no registers.
    pub(crate) fn p(_number: u32) -> Option<u16> {
        None
    }

    /// Returns `None`: API 1 has no registers.
    pub(crate) fn vectors() -> Option<u64> {
        None
    }

    /// Returns `None`: API 1 has no registers.
    pub(crate) fn table() -> Option<u64> {
        None
    }

    /// Returns `None`: API 1 has no registers.
    pub(crate) fn exception() -> Option<(u64, u64)> {
        None
    }
}

pub(crate) use family::{exception, find, p, table, vectors, x, x_or_sp};
